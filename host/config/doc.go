// Package config reads the operator's HCL, once, into typed values that keep
// the place in the file where each was written.
//
// [Load] decodes every file first and checks the meaning after, and reports all
// problems together: nothing runs before a config is whole. What plugins
// declare about their own config block comes later, by [Plugin.DecodeConfig];
// its complaints point into the same files. Other packages complain at a place
// too: every block embeds a [Place], [NewError] and [NewWarning] make a
// [Diagnostic] of one, and [Config.Report] gives it the source lines.
//
// HCL lives here and nowhere else. The package starts nothing and imports
// nothing of the host. The operator's files are trusted; a plugin's schema is not.
package config
