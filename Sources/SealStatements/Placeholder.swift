enum SealStatementsPlaceholder {}
