/** The pages and the Auth.js host beside the account service of a test, as a browser talks to them. */

import type { InjectOptions } from 'fastify'
import { authHostFamily } from '../../api/sign-in/auth-host/auth-host.ts'
import { loadAuthJs } from '../../api/sign-in/auth-host/auth-js.ts'
import { pagesFamily } from '../../api/sign-in/pages/pages.ts'
import { createSetup } from '../../auth/accounts/setup.ts'
import { type AccountsUnderTest, publicUrl } from './accounts.ts'
import { createApp } from './app.ts'
import { recordingLog, type TestHooks } from './databases.ts'
import { type HtmlElement, readHtml } from './html-document.ts'

export interface VisitOptions {
  method?: string
  cookie?: string
  headers?: Record<string, string>
  body?: string | Buffer
  address?: string
}

export interface Visited {
  status: number
  headers: Record<string, unknown>
  text: string
  elements: readonly HtmlElement[]
  location: string | undefined
  cookie: string
  errors: string[]
}

const csrfSecret = 'c'.repeat(64)
export const sameOrigin = { origin: publicUrl, 'sec-fetch-site': 'same-origin' }

type PagesOf = Pick<AccountsUnderTest, 'accounts' | 'service' | 'codec' | 'findPrincipal' | 'origins'>

export async function openPages(t: TestHooks, under: PagesOf) {
  const { accounts, service, codec, findPrincipal, origins } = under
  const { log, texts: faults } = recordingLog('error')
  const setup = createSetup(accounts, csrfSecret)
  const shared = { service, origins, publicUrl: () => publicUrl, log }
  const app = createApp(
    pagesFamily({ ...shared, findPrincipal, setup, formSecret: csrfSecret }),
    authHostFamily({ ...shared, codec, csrfSecret, authJs: await loadAuthJs() }),
  )
  t.teardown(() => app.close())
  await app.ready()

  async function visit(path: string, options: VisitOptions = {}): Promise<Visited> {
    const { method = 'GET', cookie, headers = {}, body, address } = options
    const response = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: path,
      headers: { ...(cookie === undefined ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { payload: body }),
      ...(address === undefined ? {} : { remoteAddress: address }),
    })
    const isPage = String(response.headers['content-type']).startsWith('text/html')
    const elements = isPage ? readHtml(response.body) : []
    const errors = elements.filter(({ attributes }) => ['error', 'alert'].includes(attributes['class'] ?? ''))
    const cookies = response.cookies.filter(({ value }) => value !== '')
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      elements,
      location: response.headers.location?.toString(),
      cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
      errors: errors.map(({ text }) => text),
    }
  }

  return {
    setup,
    faults,
    visit,
    /** Sends a form, as the page itself does. */
    submit: (path: string, form: Record<string, string>, options: VisitOptions = {}): Promise<Visited> =>
      visit(path, {
        method: 'POST',
        body: new URLSearchParams(form).toString(),
        ...options,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...sameOrigin, ...options.headers },
      }),
  }
}
