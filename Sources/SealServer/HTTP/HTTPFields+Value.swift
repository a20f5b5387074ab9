import HTTPTypes

extension HTTPFields {
    /// What the subscript gives, by one look at each field: that one joins the values even where there is one.
    func value(of name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
