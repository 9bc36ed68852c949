/** A request and its answer: the request line, the status, the headers and the JSON. */

import { type Html, html } from '../../http/html.ts'
import type { BrowsablePage } from '../browsable-page.ts'
import { jsonBlock } from './json-block.ts'

export function exchange({ requestLine, statusLine, headers, json }: BrowsablePage['options']): Html {
  const space = requestLine.indexOf(' ')
  const status = /^HTTP [1-3]/.test(statusLine) ? 'good' : 'bad'
  return html`<p class="request"><b>${requestLine.slice(0, space)}</b>${requestLine.slice(space)}</p>
<pre class="answer"><b class="${status}">${statusLine}</b>
${headers.map(([name, value]) => html`<b>${name}:</b> ${value}\n`)}</pre>
${json === '' ? undefined : jsonBlock(json)}
`
}
