package main_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/rules"
)

// questions returns questions about every example of every rule, and about everything in testdata.
func questions(t *testing.T) (all []question) {
	for _, r := range rules.All() {
		all = append(all, ask(r.ID(), "explain", fields{"rule": r.ID()}))
		for _, sample := range explain.Samples(r) {
			about := r.ID() + " " + sample.Name
			before, files := texts{}, texts{}
			for _, f := range sample.Files {
				if r.Transitional() && f.Side() == "old" {
					before[f.Name] = f.Whole()
				} else {
					files[f.Name] = f.Whole()
				}
			}
			if text := sample.Flags.Settings(); text != "" {
				files[config.FileName] = text
			}
			all = append(all, aboutOne(about, files, sample.Flags.Targets)...)
			if r.Transitional() {
				all = append(all, ask(about, "plan", fields{
					"before": before, "files": files, "transport": sample.Flags.Push.Transport, "versions": sample.Flags.Push.Versions,
				}))
			}
		}
	}
	for _, folder := range folders(t, "snapshots", "transitions", "gate") {
		if files := read(t, folder); len(files) > 0 {
			all = append(all, aboutOne(folder, files, nil)...)
		}
	}
	for _, folder := range folders(t, "transitions", "gate") {
		before, files := half(t, folder, "old"), half(t, folder, "new")
		all = append(all, ask(folder, "plan", fields{"before": before, "files": files}))
	}
	for _, folder := range folders(t, "manifests") {
		for name, text := range read(t, folder) {
			all = append(all, aboutOne(folder+"/"+name, texts{name: text}, nil)...)
		}
	}
	all = append(all, aboutCustomRules(t)...)
	all = append(all, aboutRequests(t)...)
	return append(all, ask("error: no such operation", "dance", nil), ask("error: no such target", "lint", fields{"targets": []string{"x"}}))
}

type texts map[string]string

// aboutOne returns all questions about one configuration.
func aboutOne(about string, files texts, targets []string) []question {
	all := []question{
		ask(about, "lint", fields{"files": files, "targets": targets}), ask(about, "graph", fields{"files": files}),
		ask(about, "verdict", fields{"files": files, "targets": targets}), ask(about, "redact", fields{"files": files}),
	}
	if !strings.Contains(about, " good") { // in which there is nothing to fix
		all = append(all, ask(about, "fix", fields{"files": files, "targets": targets, "unsafe": true}))
	}
	return all
}

const testdata = "../../../testdata"

// folders returns the folders below some folders of testdata.
func folders(t *testing.T, names ...string) (all []string) {
	for _, name := range names {
		entries, err := os.ReadDir(filepath.Join(testdata, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				all = append(all, name+"/"+e.Name())
			}
		}
	}
	return all
}

// read returns the texts in a folder by path.
func read(t *testing.T, folder string) texts {
	all := texts{}
	root := filepath.Join(testdata, folder)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".want" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err == nil && utf8.Valid(text) && !strings.ContainsRune(string(text), 0) {
			all[filepath.ToSlash(name)] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// half is one side of a push: a file or a folder.
func half(t *testing.T, folder, side string) texts {
	half := texts{}
	for name, text := range read(t, folder) {
		if strings.HasPrefix(name, side+"/") || name == side+".yaml" {
			half[name] = text
		}
	}
	return half
}

// aboutRequests returns questions of the request bar.
func aboutRequests(t *testing.T) (all []question) {
	for folder, requests := range map[string][]string{
		"walk/edge.yaml": {"https://shop.example.com/cart/1", "https://shop.example.com/basket/7", "curl -H 'x: y' http://10.0.0.1/", "curl --odd", ""},
		"walk/grpc.yaml": {"xds:///orders.shop:443 /shop.Orders/Get", "GET /"},
	} {
		text, err := os.ReadFile(filepath.Join(testdata, folder))
		if err != nil {
			t.Fatal(err)
		}
		files, targets := texts{"a.yaml": string(text)}, []string{"envoy:1.40"}
		if strings.HasSuffix(folder, "grpc.yaml") {
			targets = []string{"grpc-go:1.85"}
		} else {
			all = append(all, ask(folder, "holes", fields{"files": files}))
		}
		for _, request := range requests {
			all = append(all, ask(folder+" "+request, "follow", fields{"files": files, "targets": targets, "asked": fields{"text": request}}))
		}
	}
	return all
}
