/** A header cannot be read: `reason` is a text of the panel, the others are its particulars. */
export class HeaderError extends Error {
  /**
   * @param {string} reason
   * @param {Record<string, string | number>} params
   */
  constructor(reason, params = {}) {
    super(reason);
    this.reason = reason;
    this.params = params;
  }
}
