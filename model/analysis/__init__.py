"""What is worked out from a run: why a head looked where it did, and which parts carry the answer."""
