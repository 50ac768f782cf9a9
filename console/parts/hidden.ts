/** Made by `make generate` from `shared/acta_engine/untrusted/visible.py`: change that, not this file. */

/** Characters that are not seen as themselves. Lines, tabs and plain spaces are. */
export const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}\u{34f}-\u{34f}\u{115f}-\u{1160}\u{17b4}-\u{17b5}\u{180b}-\u{180d}\u{180f}-\u{180f}\u{2800}-\u{2800}\u{3164}-\u{3164}\u{fe00}-\u{fe0f}\u{ffa0}-\u{ffa0}\u{e0100}-\u{e01ef}]/gu;
