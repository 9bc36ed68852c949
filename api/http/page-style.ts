/** Declares the common style of pages and the policy that allows only this style. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html } from './html.ts'

const common = readFileSync(new URL('../../web/theme/base.css', import.meta.url), 'utf8')

export interface PageStyle {
  element: Html
  /**
   * Sent with every page: only the icon is loaded and no other script runs, even if a value were inserted as markup.
   */
  contentSecurityPolicy: string
}

/** Joins the common style and a family's own. `script` is the text of the only allowed script. */
export function createPageStyle(own: string, script?: string): PageStyle {
  const style = `${common}${own}`
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return { element: html`<style>${{ markup: style }}</style>`, contentSecurityPolicy: policy.join('; ') }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
