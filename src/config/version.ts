/** Kept equal to package.json by a test: reading a file at every start would cost more than it tells. */
export const version = "0.2.0";
