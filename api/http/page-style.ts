/** What all our pages look like, and the policy that allows their style and nothing else. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html } from './html.ts'

const common = readFileSync(new URL('../../web/theme/base.css', import.meta.url), 'utf8')

export interface PageStyle {
  element: Html
  /** Goes with every page: nothing but the icon is loaded and no other script runs, even if a value ever came through as markup. */
  contentSecurityPolicy: string
}

/** The common style and what a family of pages adds to it. `script`: the text of the one that may run, if any. */
export function createPageStyle(own: string, script?: string): PageStyle {
  const style = `${common}${own}`
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    // The icon.
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
