// The types of the same version, which is a development dependency.
export * from "lit-html";
