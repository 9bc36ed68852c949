/**
 * The one script of these pages: it copies what is shown once. Only a page with such a text has it, and the policy of that page
 * allows it by its hash. Without script the button stays hidden, and a click on the text selects it.
 */

import { type Html, html } from '../../../http/html.ts'

/** Browsers give the clipboard to pages over HTTPS and on the machine itself alone; elsewhere the text is selected. */
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

/** Below the element with the id. */
export function copyButton(id: string): Html {
  return html`<button type="button" class="button" data-copies="${id}" hidden>Copy</button>
`
}
