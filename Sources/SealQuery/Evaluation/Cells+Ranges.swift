import Foundation

extension Cells {
    /// Ranges for one circle at most; more would be narrower, and cost more look-ups.
    private static let most = 32

    private struct Box {
        let rows: ClosedRange<UInt32>
        let columns: ClosedRange<UInt32>
    }

    /// Ranges of cells, ascending and apart, that hold everything so near; and something more.
    static func ranges(latitude: Double, longitude: Double, metres: Double) -> [ClosedRange<UInt64>] {
        // A little more than asked for, so that rounding leaves nothing out.
        let angle = metres / Distance.radius * (1 + 1e-9) + 1e-9
        let degrees = angle * 180 / .pi
        let south = max(-90, latitude - degrees)
        let north = min(90, latitude + degrees)
        let rows = row(south)...row(north)
        var boxes: [Box]
        let sine = sin(min(angle, .pi / 2)) / max(cos(latitude * .pi / 180), 1e-300)
        if latitude + degrees >= 90 || latitude - degrees <= -90 || sine >= 1 {
            boxes = [Box(rows: rows, columns: 0...UInt32.max)]
        } else {
            let width = asin(sine) * 180 / .pi * (1 + 1e-9) + 1e-9
            let west = longitude - width
            let east = longitude + width
            if east - west >= 360 {
                boxes = [Box(rows: rows, columns: 0...UInt32.max)]
            } else if west < -180 {
                boxes = [
                    Box(rows: rows, columns: 0...column(east)),
                    Box(rows: rows, columns: column(west + 360)...UInt32.max),
                ]
            } else if east > 180 {
                boxes = [
                    Box(rows: rows, columns: 0...column(east - 360)),
                    Box(rows: rows, columns: column(west)...UInt32.max),
                ]
            } else {
                boxes = [Box(rows: rows, columns: column(west)...column(east))]
            }
        }
        return joined(boxes.flatMap { cover($0, atMost: most / boxes.count) })
    }

    /// Square cells, halved while they are few and stick out of the box.
    private static func cover(_ box: Box, atMost limit: Int) -> [ClosedRange<UInt64>] {
        var inside: [ClosedRange<UInt64>] = []
        var open: [(row: UInt32, column: UInt32, bits: UInt32)] = [(0, 0, 0)]
        while !open.isEmpty, inside.count + open.count * 4 <= limit * 2, open[0].bits < 32 {
            var next: [(row: UInt32, column: UInt32, bits: UInt32)] = []
            for cell in open {
                let bits = cell.bits + 1
                for quarter: UInt32 in 0..<4 {
                    let row = cell.row << 1 | quarter >> 1
                    let column = cell.column << 1 | quarter & 1
                    let shift = 32 - bits
                    let rows = row << shift...(row << shift | last(shift))
                    let columns = column << shift...(column << shift | last(shift))
                    guard rows.overlaps(box.rows), columns.overlaps(box.columns) else { continue }
                    if box.rows.contains(rows), box.columns.contains(columns) {
                        inside.append(range(row, column, bits))
                    } else {
                        next.append((row, column, bits))
                    }
                }
            }
            open = next
        }
        return inside + open.map { range($0.row, $0.column, $0.bits) }
    }

    private static func last(_ shift: UInt32) -> UInt32 { shift == 0 ? 0 : UInt32.max >> (32 - shift) }

    private static func range(_ row: UInt32, _ column: UInt32, _ bits: UInt32) -> ClosedRange<UInt64> {
        guard bits > 0 else { return 0...UInt64.max }
        let prefix = spread(row) << 1 | spread(column)
        let shift = 64 - 2 * UInt64(bits)
        let low = prefix << shift
        return low...(shift == 0 ? low : low | UInt64.max >> (64 - shift))
    }

    private static func joined(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
        var joined: [ClosedRange<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, last.upperBound == .max || range.lowerBound <= last.upperBound + 1 {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}
