/** Tables of Markdown. */

/** A cell of code, or an empty one. */
export function codeCell(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
