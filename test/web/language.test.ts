/** The language of the pages in a browser: of the person, else of the browser. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { german } from '../../web/words/german.ts'
import { becomes, within } from '../support/becomes.ts'
import { desk, inspect, phone } from '../support/browser-page.ts'
import { madeDevices, openFleetServer } from './fleet-server.ts'
import { pageTests } from './page-tests.ts'

const { on } = await pageTests(t)

const wordsIn = (texts: readonly string[]) => texts.flatMap(text => text.toLowerCase().match(/\p{L}{2,}/gu) ?? [])
const translations = Object.values(german).flatMap(found => (typeof found === 'string' ? found : Object.values(found)))
const germanWords = new Set(wordsIn(translations))
/** Words that the messages have in English only. */
const englishWords = new Set(wordsIn(Object.keys(german)).filter(word => !germanWords.has(word)))

/** Texts that people read or hear on the page. */
const textsOf = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const texts = [document.title]
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest('noscript')) texts.push(walker.currentNode.data)
    for (const element of document.querySelectorAll('*'))
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'label']) texts.push(element.getAttribute(name) ?? '')
    return texts.filter(text => text.trim() !== '')
  })()`)

async function englishTexts(page: Page): Promise<string[]> {
  const texts = await textsOf(page)
  return texts.filter(text => wordsIn([text]).some(word => englishWords.has(word)))
}

/** Rows whose names and places are the same in each language. */
function devices() {
  return madeDevices(60).map((device, index) => ({ ...device, device: `S-${index}`, location_short: `Platz ${index}` }))
}

for (const [screen, options] of Object.entries({ desk, phone })) {
  on({ ...options, locale: 'de-DE' })(`a German browser shows German, ${screen}`, async (page, t) => {
    const server = await openFleetServer(t, devices())
    await page.goto(server.url)
    await page.getByText('60 Geräte.').waitFor()
    await becomes(t, () => page.locator('html').getAttribute('lang'), 'de')
    await becomes(t, () => page.title(), '2 stumm – Flotte – Barograph')
    await becomes(t, () => page.locator('td.temperature').last().innerText(), /^−?\d+,\d\u202f°C/)
    await becomes(t, () => englishTexts(page), [])
    await inspect(t, page, 'the fleet in German')
  })
}

on({ ...desk, locale: 'de-DE' })('a choice of a language wins over the browser, and stays', async (page, t) => {
  const server = await openFleetServer(t, devices())
  await page.goto(server.url)
  await page.getByRole('button', { name: 'Einheiten' }).click()
  await page.getByLabel('Sprache').selectOption({ label: 'English' })
  await page.getByText('60 devices.').waitFor()
  await becomes(t, () => page.locator('html').getAttribute('lang'), 'en')
  const texts = async () => (await englishTexts(page)).join('\n')
  await becomes(t, texts, within('Skip to the content'), 'the search for English words finds them')
  await page.reload()
  await page.getByText('60 devices.').waitFor()
  await page.getByRole('button', { name: 'Units' }).click()
  await page.getByLabel('Language').selectOption({ label: 'As in the browser' })
  await page.getByText('60 Geräte.').waitFor()
})

on({ ...desk, locale: 'fr-FR' })('a browser without a language of the catalogues shows English', async (page, t) => {
  const server = await openFleetServer(t, devices())
  await page.goto(server.url)
  await page.getByText('60 devices.').waitFor()
  await becomes(t, () => page.locator('html').getAttribute('lang'), 'en')
})
