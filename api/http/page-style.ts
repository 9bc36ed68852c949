/** What all our pages look like, and the policy that allows their style and nothing else. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html } from './html.ts'

const common = readFileSync(new URL('../../theme/base.css', import.meta.url), 'utf8')

export interface PageStyle {
  element: Html
  /** Goes with every page: no script runs and nothing but the icon is loaded, even if a value ever came through as markup. */
  contentSecurityPolicy: string
}

/** The common style and what a family of pages adds to it. */
export function createPageStyle(own: string): PageStyle {
  const style = `${common}${own}`
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    // The icon.
    "img-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return { element: html`<style>${{ markup: style }}</style>`, contentSecurityPolicy: policy.join('; ') }
}
