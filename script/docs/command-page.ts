/** `docs/cli.md`: the commands with their arguments and options, as their help has them. */

import { type Command, Help } from 'commander'
import { createWholeProgram } from '../../cli/program.ts'
import { startIntro } from '../../service/settings/start-help.ts'
import { codeCell, markdownTable } from './table.ts'

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
