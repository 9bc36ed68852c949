/** The tags of a device; `hrefOf`: where each leads. */

export function TagList({ tags, hrefOf }: { tags: readonly string[]; hrefOf?: (tag: string) => string }) {
  return (
    <ul class="tags" aria-label="Tags">
      {tags.map(tag => (
        <li key={tag}>{hrefOf === undefined ? tag : <a href={hrefOf(tag)}>{tag}</a>}</li>
      ))}
    </ul>
  )
}
