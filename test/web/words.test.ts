/** The words of the pages: none is outside of the catalogues, and each has a German translation. */

import { resolve } from 'node:path'
import t from 'tap'
import { builtInMetrics } from '../../analytics/findings/value-words.ts'
import { type Catalogue, createWords } from '../../analytics/findings/words.ts'
import { catalogue } from '../../store/metrics/catalogue.ts'
import { service } from '../../web/words/german/service.ts'
import { german } from '../../web/words/german.ts'
import { type Message, sourceFiles, wordsOf } from './source-words.ts'

/** Texts that are the same in each language, or that people do not read, by file. */
const untranslated: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  // Names, and lines of the log.
  'api/alerts/unsubscribe.ts': [/^main \{/, 'the page that ends mails failed'],
  'api/content-files/html/page.ts': ['GET', 'OPTIONS'],
  'api/http/page-document.ts': ['Barograph', '1 – Barograph', /^(?:style|script)-src 1$/],
  'api/http/server.ts': ['request failed', 'accept, accept-language', /^main \{/],
  'api/sign-in/pages/device.ts': ['barograph form tokens', 'account 1', 'session 1'],
  'api/sign-in/pages/form.ts': ['Value error,'],
  'api/sign-in/pages/html/layout.ts': [/^main \{/, /^for \(const button/],
  'api/sign-in/pages/serve-pages.ts': ['a page failed'],
  // Keys.
  'web/app.tsx': [/^(?:station|dashboard|device) 1$/],
  // Each language by its own name.
  'web/client/browser-storage.ts': ['English', 'Deutsch'],
  'web/client/request-token.ts': ['Bearer 1'],
  'web/shared/shared-app.tsx': ['Barograph'],
  // CSS.
  'web/charts/chart-look.ts': ['1px system-ui, sans-serif'],
  'web/charts/colours.ts': ['color-mix(in srgb, 1 14%, var(--card))'],
  'web/charts/line-chart.ts': ['1px system-ui, sans-serif'],
  'web/pages/dashboard/dashboard-page.tsx': ['dashboard 1'],
  // Names of programs.
  'web/pages/admin/status-facts.ts': ['Barograph', 'Node', 'Java'],
  'web/pages/alerts/channels-section.tsx': ['Webhook', 'Alertmanager'],
  // The texts are examples that a person types.
  'web/pages/alerts/selector-fields.tsx': ['site:berlin, room:*'],
  'web/pages/dashboard/panel-dialog.tsx': ['site:berlin, room:*'],
  'web/pages/charts/line-panels.ts': ['unit 1'],
  'web/pages/fleet/fleet-view.ts': [/^(?:npx|curl) /],
  'web/pages/fleet/grouped-table.tsx': ['heading 1'],
  'web/parts/embed-code.ts': ['allow-scripts allow-same-origin'],
  'web/parts/record.tsx': ['button quiet'],
  'web/parts/selection-bar.tsx': ['site:berlin'],
  // Titles come from the catalogue of metrics, and from people.
  'web/text/quantities.ts': ['Dew point', 'tc() of a text that is not in the source'],
  'analytics/findings/value-words.ts': Object.values(builtInMetrics).map(({ title }) => title),
  'web/text/units.ts': ['Cel'],
  // A name, and programs.
  'web/text/ways-in.ts': ['Webhook', /^(?:curl|weather|mosquitto_pub|import) /],
}

/** Words that the service uses, too. */
const shared = [
  'alerts/core/condition-text.ts',
  'analytics/findings/finding-text.ts',
  'analytics/findings/value-words.ts',
]
const files = [
  ...sourceFiles('web').filter(file => file !== 'web/build.ts' && !file.startsWith('web/words/')),
  ...shared,
]
/** Pages that the service renders. */
const served = [
  ...sourceFiles('api/sign-in/pages'),
  'api/alerts/unsubscribe.ts',
  'api/content-files/html/page.ts',
  'api/http/page-document.ts',
  'api/http/server.ts',
]
const found = [...files, ...served].map(file => wordsOf(file))
const messages = found.flatMap(({ messages }) => messages)
const catalogues: Catalogue = { ...german, ...service }

function isUntranslated(file: string, text: string): boolean {
  if (text === 'Barograph') return true
  return (untranslated[file] ?? []).some(allowed =>
    typeof allowed === 'string' ? allowed === text : allowed.test(text),
  )
}

const titles = [...catalogue, ...Object.values(builtInMetrics), { title: 'Dew point' }].map(({ title }) => title)

t.test('no text of a page is outside of the catalogues', async t => {
  const stray = found.flatMap(({ stray }) => stray).filter(({ file, text }) => !isUntranslated(file, text))
  t.strictSame(
    stray.map(({ file, text }) => `${file}: ${text}`),
    [],
  )
})

t.test('each message has a German translation with the same values', async t => {
  const missing = messages.filter(({ file, key }) => !Object.hasOwn(served.includes(file) ? catalogues : german, key))
  t.strictSame(
    missing.map(({ file, key }) => `${file}: ${key}`),
    [],
  )
  t.strictSame(
    messages.filter(differs).map(({ key }) => key),
    [],
  )
})

/** True for another kind of message, or other placeholders. A single thing may lack its count. */
function differs({ key, other }: Message): boolean {
  const translation = catalogues[key]
  if (translation === undefined) return false
  if (typeof translation === 'string') return other !== undefined || namesIn(key) !== namesIn(translation)
  return other === undefined || namesIn(other) !== namesIn(translation.other)
}

function namesIn(text: string): string {
  return [...new Set(text.match(/\{\w+\}/g))].sort().join()
}

t.test('each translation belongs to a message', async t => {
  const keys = new Set([...messages.map(({ key }) => key), ...titles.map(title => `metric|${title}`)])
  t.strictSame(
    Object.keys(catalogues).filter(key => !keys.has(key)),
    [],
  )
})

t.test('titles of usual metrics are translated', async t => {
  t.strictSame(
    titles.filter(title => !Object.hasOwn(german, `metric|${title}`)),
    [],
  )
})

t.test('each file of the catalogue has words of its own', async t => {
  const folder = resolve('web/words/german')
  const parts = sourceFiles('web/words/german')
  const keys = await Promise.all(
    parts.map(async file => Object.keys(Object.values(await import(resolve(folder, resolve(file))))[0] as object)),
  )
  t.equal(new Set(keys.flat()).size, keys.flat().length, 'no word is in two files')
  t.equal(Object.keys(catalogues).length, keys.flat().length, 'each file is part of the catalogue')
})

t.test('texts for people are found, and code is not', async t => {
  const strayIn = (text: string) => wordsOf('made.tsx', text).stray.map(one => one.text)
  t.strictSame(strayIn("const a = <p class='soft note'>Two words</p>"), ['Two words'])
  t.strictSame(strayIn("const a = <p>{isOn ? 'on' : 'off'}</p>"), ['on', 'off'])
  t.strictSame(strayIn("const a = <Button label='save' />"), ['save'])
  t.strictSame(strayIn('const a = `$' + '{name} is removed.`'), ['1 is removed.'])
  t.strictSame(strayIn("const a = { name: 'Air pressure' }"), ['Air pressure'])
  t.strictSame(strayIn('const a = html`<p title="Two words">Text <b>$' + '{name}</b></p>`'), ['Text', 'Two words'])
  t.strictSame(strayIn('const a = html` aria-describedby="one two" hidden`'), [])
  t.strictSame(strayIn('const a = t(text)'), ['t() of a text that is not in the source'])
  t.strictSame(strayIn("const a = <p class='soft note'>{t('Two words')}</p>, b = document.querySelector('a b')"), [])
})

t.test('a message with values, plurals and elements', async t => {
  const {
    t: text,
    tc,
    tn,
    tp,
  } = createWords('de', {
    '{a} of {b}': '{b}: {a}',
    '{count} device': { one: '{count} Gerät', other: '{count} Geräte' },
    'alert|Open': 'Offen',
    Open: 'Öffnen',
  })
  t.equal(text('{a} of {b}', { a: 1, b: '{a}' }), '{a}: 1')
  t.equal(text('Close'), 'Close', 'a text without a translation is English')
  t.equal(text('Open'), 'Öffnen')
  t.equal(tc('alert', 'Open'), 'Offen')
  t.equal(tn(1, '{count} device', '{count} devices'), '1 Gerät')
  t.equal(tn(1024, '{count} device', '{count} devices'), '1.024 Geräte')
  t.strictSame(tp('{a} of {b}', { a: 1, b: 2 }), ['', 2, ': ', 1, ''])
})
