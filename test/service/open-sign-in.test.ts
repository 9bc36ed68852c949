/** Whether people sign in here, and what the start tells about the first account. */

import t from 'tap'
import { createSetup } from '../../auth/accounts/setup.ts'
import { openSignIn } from '../../service/open-sign-in.ts'
import { goodPassword, publicUrl, startAccounts } from '../support/accounts.ts'
import { silentLog } from '../support/databases.ts'

const under = await startAccounts(t)

async function open(AUTH_HOST: 'on' | 'off') {
  const links: string[] = []
  const info = ({ setupUrl }: { setupUrl?: string }): void => void (setupUrl !== undefined && links.push(setupUrl))
  const log = { ...silentLog, info }
  const accounts = { ...under, publicUrl: () => publicUrl }
  const directory = { secret: () => 's'.repeat(64) }
  const signIn = await openSignIn({ config: { AUTH_HOST }, accounts, directory, log })
  await signIn.announceSetup()
  return { families: signIn.families.map(({ prefix }) => prefix), links }
}

t.test('a setting takes the pages and the host away, and the setup link with them', async t => {
  t.strictSame(await open('off'), { families: [], links: [] })
})

t.test('each start has a link of its own until there is an operator', async t => {
  const first = await open('on')
  t.match(first, { families: ['', '/auth'], links: [/https:\/\/barograph\.example\/setup\?token=[\w-]{43}$/] })
  t.strictNotSame((await open('on')).links, first.links)
  const setup = createSetup(under.accounts)
  const operator = { email: 'olga@example.com', password: goodPassword, name: null }
  const client = { address: '127.0.0.1', network: '127.0.0.1', userAgent: undefined }
  t.match(await setup.complete((await setup.token()) ?? '', operator, client), {
    ok: true,
    value: { role: 'operator' },
  })
  t.strictSame((await open('on')).links, [])
})
