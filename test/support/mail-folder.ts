/** The mails of a service without an SMTP address: files in its data directory. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from './wait-for.ts'

/** The token of the newest mail, to this address if one is given, that links to this page of the service. */
export async function mailedToken(dataDirectory: string, page: string, to = ''): Promise<string> {
  const pattern = new RegExp(`/${page}\\?token=([\\w-]{43})`)
  const find = () =>
    readMails(dataDirectory)
      .filter(text => text.includes(`To: ${to}`))
      .map(text => pattern.exec(text)?.[1])
      .findLast(token => token !== undefined)
  await waitFor('the mail is there', () => find() !== undefined)
  return find() ?? ''
}

/** Oldest first. A mail that is still being written has another ending. */
export function readMails(dataDirectory: string): string[] {
  const folder = join(dataDirectory, 'mail')
  const names = readdirSync(folder).filter(name => name.endsWith('.eml'))
  return names.sort().map(name => unfolded(readFileSync(join(folder, name), 'utf8')))
}

/** Long lines are folded by "=" at their end (RFC 2045, 6.7). */
function unfolded(text: string): string {
  return text.replaceAll('=\r\n', '').replaceAll('=\n', '').replaceAll('=3D', '=')
}
