/** `docs/cli.md`: the commands with their arguments and options, as their help has them. */

import { type Command, Help } from 'commander'
import { createWholeProgram } from '../../cli/program.ts'
import { settingGroups } from '../../service/settings/setting-groups.ts'
import { startIntro } from '../../service/settings/start-help.ts'

const intro = `# Command line

<!-- Made of the commands in cli/ by npm run docs. -->

\`barograph\` runs and administers a server. In a checkout or beside an installed package it is \`npx barograph\`. \`--help\` behind a
command prints what this page says of it.
`

export async function commandPage(): Promise<string> {
  const { stdin, stdout, stderr } = process
  const program = await createWholeProgram({ stdin, stdout, stderr, environment: {}, version: '' })
  const sections = program.commands.flatMap(command => sectionsOf(command, '', 2))
  return [intro, detailsOf(program), ...sections].join('\n')
}

/** The sections of a command and of the commands below it, which are all on one level. */
function sectionsOf(command: Command, above: string, depth: 2 | 3): string[] {
  const name = `${above}${command.name()}`
  const details = name === 'start' ? `${block(startIntro.trim())}\n` : detailsOf(command)
  const own = [`${'#'.repeat(depth)} ${name}\n`, `${sentence(command.description())}\n`, details]
    .filter(part => part !== '')
    .join('\n')
  return [own, ...command.commands.flatMap(inner => sectionsOf(inner, `${name} `, 3))]
}

/** The usage of runnable commands, their arguments and options, and the rest of their help. */
function detailsOf(command: Command): string {
  const help = new Help()
  const isGroup = command.commands.length > 0
  const rows = [
    ...help.visibleArguments(command).map(each => [help.argumentTerm(each), help.argumentDescription(each)] as const),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map(each => [help.optionTerm(each), help.optionDescription(each)] as const),
  ]
  const after = textBehind(command)
  const parts = [
    ...(isGroup ? [] : [block(help.commandUsage(command))]),
    ...(rows.length === 0
      ? []
      : [
          markdownTable(
            ['argument or option', 'meaning'],
            rows.map(([term, text]) => [codeCell(term), text.replaceAll('<', '\\<')]),
          ),
        ]),
    ...(after === '' ? [] : [block(after)]),
  ]
  return parts.map(part => `${part}\n`).join('\n')
}

/** Text added to the help of a command, which commander only prints. */
function textBehind(command: Command): string {
  let text = ''
  command.configureHelp({ formatHelp: () => '' }).configureOutput({
    writeOut(part) {
      text += part
    },
  })
  command.outputHelp()
  return text.trim()
}

function block(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

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

/** A cell of code, or an empty one. */
function codeCell(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
