/** Debian's Chromium for tests of pages, driven without a window. */

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'
import { borrow } from './borrow.ts'
import type { TestHooks } from './databases.ts'

/**
 * Debian's shell without a window comes first: the others load their surface for each context, at six times the
 * processor time.
 */
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/** The one of the worker, or one of the test's own. */
export async function openBrowser(): Promise<Browser> {
  const lent = await borrow<string>('browser')
  return lent === undefined ? await chromium.launch(launchOptions()) : await chromium.connect(lent)
}

/** Returns where test files connect to it. */
export async function launchBrowser(t: TestHooks): Promise<{ url: string; pid: number }> {
  const server = await chromium.launchServer({ ...launchOptions(), host: '127.0.0.1' })
  t.teardown(() => server.close())
  const { pid } = server.process()
  if (pid === undefined) throw new Error('Chromium did not start')
  return { url: server.wsEndpoint(), pid }
}

/** A machine without a browser fails the test, since its pages would remain untested. */
function launchOptions(): LaunchOptions {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const executablePath = names.flatMap(name => folders.map(folder => join(folder, name))).find(isExecutable)
  if (executablePath === undefined) {
    throw new Error(`Found none of ${names.join(', ')} on PATH. Debian has the first as a package.`)
  }
  // Its sandbox does not work for root, and the pages are our own.
  return { executablePath, args: ['--no-sandbox'] }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
