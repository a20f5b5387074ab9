import Testing

@testable import SealServer

/// Tables that a spreadsheet opens: what is in a cell is a text there, whatever parts its cells.
@Suite(.timeLimit(.minutes(60))) struct SpreadsheetCellTests {
    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a;b", "a;b"), ("a; -5", "a; -5"), ("a-b=c", "a-b=c"), ("a,b", "\"a,b\""),
        ("=1+1", "'=1+1"), ("\t=1", "'\t'=1"), ("x;=HYPERLINK(1)", "x;'=HYPERLINK(1)"), ("x\t@y", "x\t'@y"),
        ("a;+b;-c", "a;'+b;'-c"), ("x;\"=1\"", "\"x;'\"\"=1\"\"\""), ("\"=1", "\"'\"\"=1\""),
        ("x\n=1", "\"x\n'=1\""), ("x\r\n=1", "\"x\r\n'=1\""), ("é;=1", "é;'=1"),
    ]) func noPartOfACellIsAFormula(_ text: String, _ cell: String) { #expect(SpreadsheetCell.text(text) == cell) }
}
