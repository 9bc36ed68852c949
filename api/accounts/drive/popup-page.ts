/** The last page of the popup: hands its message to the window that has opened it, and closes. */

import { randomBytes } from 'node:crypto'
import { html } from '../../http/html.ts'
import type { Page } from '../kit/operation.ts'

export type DriveMessage = { type: string; refresh_token: string } | { type: string; error: string }

/** `openerOrigin`: a window of any other origin gets nothing. */
export function popupPage(message: DriveMessage, openerOrigin: string): Page {
  const nonce = randomBytes(16).toString('base64')
  const isLinked = 'refresh_token' in message
  const text = isLinked ? 'The drive is linked.' : `The drive could not be linked: ${message.error}`
  const script = `if (window.opener) {
  window.opener.postMessage(${inScript(message)}, ${inScript(openerOrigin)})
  window.close()
}`
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isLinked ? 'Drive linked' : 'Drive not linked'}</title></head>
<body><main><h1>${isLinked ? 'Drive linked' : 'Drive not linked'}</h1>
<p>${text}</p>
<p>You can close this window.</p></main>
<script nonce="${nonce}">${{ markup: script }}</script></body>
</html>
`
  return { status: isLinked ? 200 : 400, html: page.markup, headers: headersWith(nonce) }
}

function headersWith(nonce: string): Record<string, string> {
  return {
    'content-security-policy': [
      `default-src 'none'; script-src 'nonce-${nonce}'`,
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ].join('; '),
    // With any other value the window would lose its opener.
    'cross-origin-opener-policy': 'unsafe-none',
    'referrer-policy': 'no-referrer',
  }
}

/** JSON that cannot end the script element it stands in. */
function inScript(value: unknown): string {
  const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, escapeCharacter)
}
