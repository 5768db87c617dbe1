// Package integrity pins what the operator accepted of a plugin: the bytes of
// its program and of its files, and the definitions that it gives to models.
//
// A [Store] hashes bytes while it copies them into a private folder, and the
// copy is what runs: between the check and the use nothing can be put in the
// place of what was checked. A [Lock] is the lock file, which holds what was
// accepted; a [Pin] is what it, and the configuration, say of one plugin.
//
// It protects from everybody and everything that changes a plugin without the
// operator: an update, a build, another user, a plugin that may write where
// another one lies. Who has the rights of mcphost itself can change mcphost, the
// lock file and the copies, and nothing here holds them.
//
// The package starts no process and knows no configuration language but that of
// its own file.
package integrity
