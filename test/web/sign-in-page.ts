/** The page on which people sign in. */

import type { Page } from 'playwright-core'
import { password } from '../support/people.ts'

/** Signs in, and waits for the page that was wanted. */
export async function signInFor(page: Page, url: string, email: string, path: string): Promise<void> {
  await page.goto(`${url}/sign-in?callbackUrl=${encodeURIComponent(path)}`)
  await submitSignIn(page, email)
  await page.waitForURL(`${url}${path}`)
}

/** Signs in on the page itself. */
export async function submitSignIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail address', { exact: true }).fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Gives the browser of the page a session, by its Cookie header. */
export async function useSession(page: Page, url: string, cookies: string): Promise<void> {
  const parts = cookies.split('; ').map(text => text.split(/=(.*)/s))
  await page.context().addCookies(parts.map(([name = '', value = '']) => ({ name, value, url })))
}
