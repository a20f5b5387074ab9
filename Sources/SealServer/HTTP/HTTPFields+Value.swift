import HTTPTypes

extension HTTPFields {
    /// What the subscript gives, which joins the values even where there is one: a few thousand instructions a header.
    func value(of name: HTTPField.Name) -> String? {
        guard contains(name) else { return nil }
        let values = self[values: name]
        return values.count == 1 ? values[0] : self[name]
    }
}
