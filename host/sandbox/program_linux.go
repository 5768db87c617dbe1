package sandbox

import (
	"bufio"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxInterpreters is how many interpreters Linux follows, and a few more for env.
const maxInterpreters = 8

// programs returns the files needed to run the plugin and the programs that it
// is granted to start.
func (s *spec) programs() []string {
	files := programFiles(s.Path, s.Env)
	for _, program := range s.Exec {
		if program != anyProgram {
			files = append(files, programFiles(program, s.Env)...)
		}
	}
	return files
}

// programFiles returns the files that the kernel opens to run program: itself,
// the interpreters that "#!" lines name, and the dynamic loader; the links on
// the way to them, and what an interpreter cannot begin without. Those that are
// not there are left out; exec will say so.
func programFiles(program string, env []string) []string {
	files := []string{program}
	for i := 0; i < len(files) && len(files) < maxInterpreters; i++ {
		for _, next := range openedFor(files[i], env) {
			if !slices.Contains(files, next) {
				files = append(files, next)
			}
		}
	}
	for _, file := range slices.Clone(files) {
		files = append(files, links(file)...)
		files = append(files, standardLibrary(file)...)
	}
	return slices.DeleteFunc(files, func(f string) bool {
		_, err := os.Stat(f)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// links returns the symbolic links between file, if it is one, and what it is
// in the end: a venv's python3 leads to the one it was made with by way of
// another link, which is in neither's folder of the plugin.
func links(file string) (list []string) {
	for range maxLinks {
		target, err := os.Readlink(file)
		if err != nil {
			return list
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(file), target)
		}
		file = target
		list = append(list, file)
	}
	return list
}

// maxLinks is how many symbolic links Linux follows.
const maxLinks = 40

// standardLibrary returns the library that belongs to an interpreter which is
// installed outside of the system's folders, by pyenv, uv or conda: without it
// no script runs. What was installed into it comes along, nothing beside it.
func standardLibrary(program string) []string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !strings.HasPrefix(filepath.Base(real), "python3") {
		return nil // Node and others are one file
	}
	lib := filepath.Join(filepath.Dir(filepath.Dir(real)), "lib")
	var found []string
	for _, pattern := range []string{"python3*/os.py", "libpython3*.so*"} {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(lib), pattern))
		if err != nil {
			return nil
		}
		for _, path := range paths {
			found = append(found, strings.TrimSuffix(path, "/os.py"))
		}
	}
	return found
}

// escapeGlob returns a pattern that matches path alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

func openedFor(program string, env []string) []string {
	f, err := os.Open(program)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	line, err := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	if rest, script := strings.CutPrefix(line, "#!"); script {
		return interpreter(strings.Fields(rest), env)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return loader(f)
}

// interpreter reads the words of a "#!" line. env(1) looks its argument up.
func interpreter(words, env []string) []string {
	if len(words) == 0 {
		return nil
	}
	files := []string{words[0]}
	if filepath.Base(words[0]) != "env" {
		return files
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if path := lookUp(word, env); path != "" {
			files = append(files, path)
		}
		break
	}
	return files
}

func lookUp(name string, env []string) string {
	for _, variable := range slices.Backward(env) {
		list, ok := strings.CutPrefix(variable, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && filepath.IsAbs(path) {
				return path
			}
		}
		return ""
	}
	return ""
}

// loader returns the dynamic loader that an ELF file names.
func loader(r io.ReaderAt) []string {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil // not ELF: the kernel will say what it thinks of it
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		name, err := io.ReadAll(p.Open())
		if err != nil {
			return nil
		}
		return []string{strings.TrimRight(string(name), "\x00")}
	}
	return nil
}
