/** The tables of `docs/settings.md`, of the schema of the settings. */

import { settingGroups } from '../../service/settings/setting-groups.ts'
import { codeCell, markdownTable } from './table.ts'

const begin = '<!-- Made of service/settings/settings.ts by npm run docs: -->'
const end = '<!-- Until here. -->'

/** The page with a rebuilt part between the two marks. */
export function withSettings(page: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`the page has no ${begin} with ${end} behind it`)
  const sections = settingGroups().map(({ title, rows }) => {
    const table = markdownTable(
      ['name', 'default', 'description'],
      rows.map(([name, value, description]) => [codeCell(name), defaultText(name, value), description]),
    )
    return `## ${title}\n\n${table}\n`
  })
  return `${before}${begin}\n\n${sections.join('\n')}\n${end}${after}`
}

/** The schema's default depends on this machine. */
function defaultText(name: string, value: string): string {
  return name === 'TIME_ZONE' ? 'of the machine' : codeCell(value)
}
