/**
 * The only script of these pages: it copies a text that is shown once. Only pages with such a text have it, and their
 * policy allows it by its hash. Without a script the button stays hidden, and a click on the text selects it.
 */

import { type Html, html } from '../../../http/html.ts'

/** Browsers provide the clipboard to pages over HTTPS and on the local machine. Elsewhere the text is selected. */
export const copyScript = `
for (const button of document.querySelectorAll('[data-copies]')) {
  const source = document.getElementById(button.dataset.copies)
  button.hidden = false
  button.onclick = async () => {
    getSelection().selectAllChildren(source)
    try {
      await navigator.clipboard.writeText(source.textContent)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Selected: press Ctrl+C'
    }
  }
}
`

export const copyScriptElement: Html = html`<script>${{ markup: copyScript }}</script>
`

/** Copies the element with the id. */
export function copyButton(id: string): Html {
  return html`<button type="button" class="button" data-copies="${id}" hidden>Copy</button>
`
}
