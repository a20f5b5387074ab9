import SealVectorChecks

/// The JSON schema that all vector files share. What a test's `fields` hold depends on its group's `type` and is
/// described in the file's header.
enum VectorSchema {
    static let text = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "SealKit vectors, in the shape of Project Wycheproof",
          "type": "object",
          "additionalProperties": false,
          "required": ["algorithm", "schema", "generatorVersion", "numberOfTests", "header", "notes", "testGroups"],
          "properties": {
            "algorithm": {"type": "string"},
            "schema": {"const": "schema/vectors.json"},
            "generatorVersion": {"type": "string"},
            "numberOfTests": {"type": "integer", "minimum": 1},
            "header": {"type": "array", "items": {"type": "string"}},
            "notes": {"type": "object", "additionalProperties": {"type": "string"}},
            "testGroups": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["type", "shared", "tests"],
                "properties": {
                  "type": {"type": "string"},
                  "shared": {"type": "object"},
                  "tests": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "additionalProperties": false,
                      "required": ["tcId", "comment", "flags", "result", "fields"],
                      "properties": {
                        "tcId": {"type": "integer", "minimum": 1},
                        "comment": {"type": "string"},
                        "flags": {"type": "array", "items": {"type": "string"}},
                        "result": {"enum": ["valid", "invalid"]},
                        "reason": {"type": "string"},
                        "fields": {"type": "object"}
                      }
                    }
                  }
                }
              }
            }
          }
        }

        """
}
