enum SealPrimitivesPlaceholder {}
