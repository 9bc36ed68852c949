/** Alerts of one channel, one rule and one value of a tag are notified together. */

/** The value of the tag `group_by`; empty without such a tag, and where alerts are not grouped by a tag. */
export function groupValue(groupBy: string | null, tags: readonly string[]): string {
  if (groupBy === null) return ''
  const prefix = `${groupBy}:`
  return tags.find(tag => tag.startsWith(prefix))?.slice(prefix.length) ?? ''
}
