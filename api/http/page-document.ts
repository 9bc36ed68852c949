/** A page as one text. It needs nothing but its style, which stands in it: no script, font or picture. */

import { type Html, html } from './html.ts'

export interface PageDocument {
  title: string
  style: Html
  /** Behind the line in the header. */
  menu?: Html
  /** What follows the header. */
  body: Html
}

export function renderDocument({ title, style, menu, body }: PageDocument): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Barograph</title>
${style}
</head>
<body>
<header><p>Barograph</p>${trace}${menu}</header>
${body}
</body>
</html>
`.markup
}

/** The line that a barograph draws on its paper. */
const trace = html`<svg viewBox="0 0 1000 48" preserveAspectRatio="none" aria-hidden="true"><path
d="M0 30C60 26 90 14 150 15S240 34 300 33 380 12 450 13 520 37 590 38 660 40 690 22 770 9 830 12 930 25 1000 20"
fill="none" vector-effect="non-scaling-stroke"/></svg>`
