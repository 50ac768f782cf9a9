/** What makes elements of the tags in every file. The build puts it there. */

export { Fragment, h } from "preact";
