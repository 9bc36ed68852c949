/** Renders a page as one text in the common frame. Its style is inline, and it loads no font and no picture. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Language, Words } from '../../analytics/findings/words.ts'
import { type NavigationPage, navigationFor, tracePath } from '../../web/theme/frame.ts'
import { type Html, html } from './html.ts'

/** The signed-in account in the frame. */
export interface Visitor {
  name: string
  role: string
  /** Null: as in the browser. */
  language: Language | null
}

/** Null without a signed-in account. */
export type FindVisitor = (request: IncomingMessage) => Promise<Visitor | null>

interface PageFrame {
  words: Words
  /** Path to the root of the service from the page: `./`, `../`. */
  root: string
  current?: NavigationPage | undefined
  /** Null without a signed-in account. Undefined if the page does not look it up. */
  visitor?: Visitor | null | undefined
  /** Return path of the sign-in from the root; by default the account page. */
  path?: string | undefined
}

export interface PageDocument extends PageFrame {
  title: string
  style: Html
  /** The part after the navigation. Its `main` has the id `main`. */
  body: Html
  /** The policy of the page allows it by its hash. */
  script?: Html | undefined
}

export function renderDocument({ title, style, body, script, ...frame }: PageDocument): string {
  const { language, t } = frame.words
  return html`<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Barograph</title>
${style}
</head>
<body>
<a class="skip" href="#main">${t('Skip to the content')}</a>
<header><p><a href="${frame.root}">Barograph</a></p>${trace}${visitorOf(frame)}</header>
${navigationOf(frame)}
${body}
${script}</body>
</html>
`.markup
}

function navigationOf({ root, current, visitor, words }: PageFrame): Html {
  const links = navigationFor(visitor, words).map(({ page, name, path }) => {
    const isCurrent = page === current ? html` aria-current="page"` : undefined
    return html`<a href="${addressOf(root, path.slice(1))}"${isCurrent}>${name}</a>`
  })
  return html`<nav class="pages" aria-label="${words.t('Pages')}">${links}</nav>`
}

function visitorOf({ root, visitor, path, words: { t } }: PageFrame): Html | undefined {
  if (visitor === undefined) return undefined
  if (visitor === null) {
    const back = path === undefined ? '' : `?callbackUrl=${encodeURIComponent(path)}`
    return html`<a class="button small" href="${addressOf(root, 'sign-in')}${back}">${t('Sign in')}</a>`
  }
  return html`<p class="visitor"><a href="${addressOf(root, 'account')}">${visitor.name}</a> <span>${roleName(visitor.role, { t })}</span></p>
<form method="post" action="${addressOf(root, 'sign-out')}"><button class="button small">${t('Sign out')}</button></form>`
}

export function roleName(role: string, { t }: Pick<Words, 't'>): string {
  const names: Record<string, string> = { operator: t('operator'), administrator: t('administrator'), user: t('user') }
  return names[role] ?? role
}

/** A page in the same folder is linked by its name alone. */
function addressOf(root: string, path: string): string {
  return root === './' && path !== '' ? path : `${root}${path}`
}

const trace = html`<svg viewBox="0 0 1000 48" preserveAspectRatio="none" aria-hidden="true"><path
d="${tracePath}" fill="none" vector-effect="non-scaling-stroke"/></svg>`

/** The style of all pages. */
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

/** Bounds the answer to a long address. */
const depthMax = 16

/** Path to the root of the service, valid below any prefix that a proxy adds: `../` from `/docs/statistics`. */
export function rootFrom(url: string): string {
  const [path = ''] = url.split('?', 1)
  const depth = path.split('/', depthMax + 3).length - 2
  if (depth > depthMax) return '/'
  return depth <= 0 ? './' : '../'.repeat(depth)
}
