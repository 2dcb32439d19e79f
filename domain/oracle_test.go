package domain

// The oracle is the spec's own code, line by line, whatever it costs: what the fast methods answer must be what it answers.
//
// spec: set-validation, Implementing Validate(), Implementing FindAllSets(), Implementing AnySetExists()

func oracleValidate(threeCards []Card) (isValid bool, invalidReason string) {
	if len(threeCards) != 3 {
		panic("Exactly 3 cards are required.")
	}
	a := threeCards[0].Attributes()
	b := threeCards[1].Attributes()
	c := threeCards[2].Attributes()

	if !oracleIsValidAttribute(a.Number, b.Number, c.Number) {
		return false, "Number is mixed"
	}
	if !oracleIsValidAttribute(a.Shape, b.Shape, c.Shape) {
		return false, "Shape is mixed"
	}
	if !oracleIsValidAttribute(a.Color, b.Color, c.Color) {
		return false, "Color is mixed"
	}
	if !oracleIsValidAttribute(a.Shading, b.Shading, c.Shading) {
		return false, "Shading is mixed"
	}
	return true, ""
}

func oracleIsValidAttribute[T Number | Shape | Color | Shading](x, y, z T) bool {
	allSame := x == y && y == z
	allDiff := x != y && y != z && x != z
	return allSame || allDiff
}

func oracleFindAllSets(boardCards []Card) []Triple {
	var results []Triple
	n := len(boardCards)
	for i := 0; i < n-2; i++ {
		for j := i + 1; j < n-1; j++ {
			for k := j + 1; k < n; k++ {
				trio := []Card{boardCards[i], boardCards[j], boardCards[k]}
				if isValid, _ := oracleValidate(trio); isValid {
					results = append(results, Triple(trio))
				}
			}
		}
	}
	return results
}

func oracleAnySetExists(boardCards []Card) bool {
	n := len(boardCards)
	for i := 0; i < n-2; i++ {
		for j := i + 1; j < n-1; j++ {
			for k := j + 1; k < n; k++ {
				trio := []Card{boardCards[i], boardCards[j], boardCards[k]}
				if isValid, _ := oracleValidate(trio); isValid {
					return true
				}
			}
		}
	}
	return false
}
