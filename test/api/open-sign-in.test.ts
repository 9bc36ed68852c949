/** Whether people sign in here, and what the start tells about the first account. */

import t from 'tap'
import { openSignIn } from '../../api/open-sign-in.ts'
import { createSetup } from '../../auth/accounts/setup.ts'
import { goodPassword, publicUrl, startAccounts } from '../support/accounts.ts'
import { silentLog } from '../support/databases.ts'

const under = await startAccounts(t)

async function open(AUTH_HOST: 'on' | 'off') {
  const urls: string[] = []
  const log = {
    ...silentLog,
    info: (fields: object) => void urls.push(String((fields as { setupUrl?: unknown }).setupUrl)),
  }
  const accounts = {
    ...under,
    published: [],
    family: { prefix: '', register: () => undefined },
    close: async () => undefined,
  }
  const directory = { secret: () => 's'.repeat(64) }
  const signIn = await openSignIn({ config: { AUTH_HOST }, accounts, directory, publicUrl: () => publicUrl, log })
  await signIn.announceSetup()
  return { families: signIn.families.map(({ prefix }) => prefix), urls }
}

t.test('a setting takes the pages and the host away, and the setup link with them', async t => {
  t.strictSame(await open('off'), { families: [], urls: [] })
})

t.test('each start has a link of its own until there is an operator', async t => {
  const first = await open('on')
  t.match(first, { families: ['', '/auth'], urls: [/^https:\/\/barograph\.example\/setup\?token=[\w-]{43}$/] })
  t.notMatch((await open('on')).urls, first.urls)
  const setup = createSetup(under.accounts)
  const operator = { email: 'olga@example.com', password: goodPassword, name: null }
  t.match(await setup.complete((await setup.token()) ?? '', operator), { ok: true, value: { role: 'operator' } })
  t.match((await open('on')).urls, [])
})
