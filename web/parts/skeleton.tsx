/** Grey bars in the place of what is still loading. */

export interface SkeletonProps {
  /** For those who do not see the bars: `The fleet is loading`. */
  name: string
  rows?: number
}

export function Skeleton({ name, rows = 6 }: SkeletonProps) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{name}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="bar" />
      ))}
    </div>
  )
}
