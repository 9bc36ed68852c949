/** Grey bars in place of loading content. */

export interface SkeletonProps {
  /** Text for screen readers: `The fleet is loading`. */
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
