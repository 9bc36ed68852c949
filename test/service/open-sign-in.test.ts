/** The availability of the sign-in, and the message about the first account at the start. */

import t from 'tap'
import { createSetup } from '../../auth/accounts/setup.ts'
import { openSignIn } from '../../service/open-sign-in.ts'
import { goodPassword, publicUrl, startAccounts } from '../support/accounts.ts'
import { silentLog } from '../support/databases.ts'

const under = await startAccounts(t)

async function open(AUTH_HOST: 'on' | 'off', secret = 's'.repeat(64), PUBLIC_URL?: string) {
  const links: string[] = []
  const info = ({ setupUrl }: { setupUrl?: string }, text?: string): void => {
    if (setupUrl === undefined) return
    links.push(setupUrl)
    t.equal(text?.includes('set HOST and PUBLIC_URL'), PUBLIC_URL === undefined, 'unless it is set')
  }
  const log = { ...silentLog, info }
  const accounts = { ...under, publicUrl: () => publicUrl }
  const directory = { secret: () => secret }
  const signIn = await openSignIn({ config: { AUTH_HOST, PUBLIC_URL }, accounts, directory, log })
  await signIn.announceSetup()
  return { families: signIn.families.map(({ prefix }) => prefix), links }
}

t.test('a setting disables the pages, their host and the setup link', async t => {
  t.strictSame(await open('off'), { families: [], links: [] })
})

t.test('the link depends on the secret and the database until there is an operator', async t => {
  const first = await open('on')
  t.match(first, { families: ['', '/auth'], links: [/https:\/\/barograph\.example\/setup\?token=[\w-]{43}$/] })
  t.strictSame((await open('on', undefined, publicUrl)).links, first.links, 'also after a restart')
  t.strictNotSame((await open('on', 'x'.repeat(64))).links, first.links)
  await under.store.postgres.query("UPDATE schema_migrations SET applied_at = applied_at + interval '1 microsecond'")
  const ofAnother = (await open('on')).links
  t.match(ofAnother, [/^https/])
  t.strictNotSame(ofAnother, first.links)
  const token = new URL(ofAnother[0] ?? '').searchParams.get('token') ?? ''
  const again = () => createSetup(under.accounts, 's'.repeat(64))
  const setup = again()
  const before = new URL(first.links[0] ?? '').searchParams.get('token') ?? ''
  t.strictSame([await setup.isOpen(before), await setup.isOpen(token)], [false, true])
  const operator = { email: 'olga@example.com', password: goodPassword, name: null }
  const client = { address: '127.0.0.1', network: '127.0.0.1', userAgent: undefined }
  t.match(await setup.complete(token, operator, client), { ok: true, value: { role: 'operator' } })
  t.strictSame((await open('on')).links, [])
  t.strictSame([await setup.isOpen(token), await again().isOpen(token)], [false, false])
  t.match(await again().complete(token, operator, client), { code: 'TOKEN_INVALID' })
})
