/** The settings of our own QuestDB are compared with those that it runs with. */

import { test } from 'tap'
import { differences, type Parameter, settingsText } from '../../store/questdb/questdb-settings.ts'

const wanted = { 'cairo.commit.mode': 'sync', 'line.tcp.enabled': 'false', 'http.password': 'secret' }

function running(changes: Record<string, Partial<Parameter> | undefined> = {}): Map<string, Parameter> {
  const stars = (key: string, value: string): string => (key.endsWith('.password') ? '****' : value)
  const parameters = new Map<string, Parameter>()
  for (const [key, value] of Object.entries(wanted)) parameters.set(key, { value: stars(key, value), source: 'conf' })
  for (const [key, change] of Object.entries(changes)) {
    const before = parameters.get(key)
    if (change === undefined || before === undefined) parameters.delete(key)
    else parameters.set(key, { ...before, ...change })
  }
  return parameters
}

test('settings that are in force are no difference, and those of others do not matter', async t => {
  const parameters = running()
  parameters.set('query.timeout', { value: '60s', source: 'default' })
  t.strictSame(differences(wanted, parameters), [])
})

test('each setting that is not in force is named', async t => {
  const finds = (changes: Record<string, Partial<Parameter> | undefined>, texts: string[]): unknown =>
    t.strictSame(differences(wanted, running(changes)), texts)
  finds({ 'cairo.commit.mode': { value: 'nosync' } }, ['cairo.commit.mode is nosync, not sync'])
  // Overridden with the same value by chance: it is still not ours to rely on.
  finds({ 'line.tcp.enabled': { source: 'env' } }, ['line.tcp.enabled comes from its env, not from its configuration'])
  finds({ 'http.password': undefined }, ['http.password is not known to it'])
  finds({ 'http.password': { source: 'default' } }, [
    'http.password comes from its default, not from its configuration',
  ])
})

test('the configuration has one line for each setting', async t => {
  t.equal(
    settingsText(wanted),
    '# Written at each start; changes made here are lost.\ncairo.commit.mode=sync\nline.tcp.enabled=false\nhttp.password=secret\n',
  )
})
