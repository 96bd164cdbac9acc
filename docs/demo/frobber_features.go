package features

const (
	// owner: @you
	// alpha: v1.20
	Frobber2D featuregate.Feature = "Frobber2D"
)

var specs = map[featuregate.Feature]featuregate.VersionedSpecs{
	Frobber2D: {
		{Version: version.MustParse("1.20"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.22"), Default: true, PreRelease: featuregate.Beta},
	},
}
