// A hostile container: swaps what is in a volume for links, as fast as one processor can, while others use the volume.
//
//	swapper prepare <volume>                        makes what will be swapped
//	swapper run <volume> <bait> <links> <state>     swaps until it is ended
//
// <bait> is a folder outside of the volume that has the same names as the volume (d, f, x, y): whoever follows a link
// arrives at something that looks right. <links> are further places to point to, parted by commas. <state> is a
// folder outside of the volume in which it says how many times it has swapped.
//
//	a/d  a/f       the folder above the last name becomes a link
//	b/d  b/f       the last name itself does; the file becomes a folder, too
//	n              a folder in which others make new ones
//	tree/x/y/f     folders and files of a tree that changes hands, and of a large one
//	gone/x/y/f     a tree that is removed, and made again and again
package main

import (
	"math/rand"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

const (
	atFdcwd        = ^uintptr(99) // -100
	renameExchange = 2
	hidden         = ".swapped"
	// So many swaps between two words about their number.
	chapter = 2048
)

// Go's own package has no name for this call.
var renameat2 = map[string]uintptr{"amd64": 316, "arm64": 276}[runtime.GOARCH]

func main() {
	volume := os.Args[2]
	if os.Args[1] == "prepare" {
		prepare(volume)
		return
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	places := placesOf(volume, os.Args[3], strings.Split(os.Args[4], ","))
	random := rand.New(rand.NewSource(int64(os.Getpid())))
	for swaps := 0; ; swaps++ {
		if swaps%chapter == 0 {
			tell(os.Args[5], swaps)
			select {
			case <-ended:
				return
			default:
			}
		}
		places[random.Intn(len(places))].turn(random)
	}
}

func prepare(volume string) {
	for _, folder := range []string{"a/d", "b/d", "n", "tree/x/y", "large/x/y", "other/d", hidden} {
		must(os.MkdirAll(filepath.Join(volume, folder), 0o777))
	}
	// More than the agent changes without a thread of its own.
	for number := 0; number < 600; number++ {
		must(os.WriteFile(filepath.Join(volume, "large", strconv.Itoa(number)), nil, 0o666))
	}
	for _, file := range []string{"large/x/f", "large/x/y/f", "a/f", "a/d/inside", "b/f", "b/d/inside", "tree/x/f", "tree/x/y/f", "other/f"} {
		must(os.WriteFile(filepath.Join(volume, file), []byte("inside"), 0o666))
	}
}

// A place has what belongs there, or something else instead, which is kept under another name meanwhile.
type place struct {
	path    string
	others  []string
	present string
	// What removals leave has to be made again.
	rebuild func()
}

func (it *place) turn(random *rand.Rand) {
	if it.rebuild != nil && random.Intn(4) == 0 {
		it.rebuild()
	}
	other := it.present
	if other == "" {
		other = it.others[random.Intn(len(it.others))]
	}
	if exchange(it.path, other) != 0 {
		return
	}
	if it.present == "" {
		it.present = other
	} else {
		it.present = ""
	}
}

func placesOf(volume, bait string, links []string) []*place {
	number := 0
	link := func(target string) string {
		number++
		path := filepath.Join(volume, hidden, strconv.Itoa(number))
		must(os.Symlink(target, path))
		return path
	}
	all := func(targets ...string) []string {
		made := []string{}
		for _, target := range targets {
			made = append(made, link(target))
		}
		return made
	}
	up := strings.Repeat("../", 32)
	folder := filepath.Join(volume, hidden, "folder")
	must(os.MkdirAll(folder, 0o777))
	at := func(path string, others []string) *place {
		return &place{path: filepath.Join(volume, path), others: others}
	}

	// Half of the links lead to the bait, by an absolute path and by a relative one; some stay in the volume.
	places := []*place{
		at("a", all(append(links, bait, up+bait, "other")...)),
		at("b/d", all(append(links, bait+"/d", up+bait+"/d", "../other/d")...)),
		at("b/f", append(all(bait+"/f", up+bait+"/f", "../other/f"), folder)),
		at("n", all(append(links, bait, up+bait)...)),
	}
	for _, tree := range []string{"tree", "large"} {
		places = append(places,
			at(tree+"/x", all(bait+"/x", up+bait+"/x")),
			at(tree+"/x/y", all(bait+"/x/y", bait)),
			at(tree+"/x/f", all(bait+"/f", bait+"/x/f")))
	}
	return append(places, vanishing(volume, bait, up)...)
}

// Trees that somebody removes all the time: whatever is missing of them is made anew, links included.
func vanishing(volume, bait, up string) []*place {
	top := filepath.Join(volume, "gone")
	rebuild := func() {
		os.MkdirAll(top+"/x/y", 0o777)
		if file, err := os.OpenFile(top+"/x/y/f", os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o666); err == nil {
			file.Close()
		}
		os.Symlink(bait+"/x", top+"/1")
		os.Symlink(up+bait+"/x", top+"/2")
		os.Symlink(bait+"/x/y", top+"/3")
	}
	// Nobody keeps account of which is which here: the other one is taken away, too.
	forgetful := func(path string, others ...string) *place {
		made := &place{path: top + "/" + path, rebuild: rebuild}
		for _, other := range others {
			made.others = append(made.others, top+"/"+other)
		}
		return made
	}
	return []*place{forgetful("x", "1", "2"), forgetful("x/y", "3")}
}

func exchange(one, other string) syscall.Errno {
	from, _ := syscall.BytePtrFromString(one)
	to, _ := syscall.BytePtrFromString(other)
	_, _, errno := syscall.Syscall6(renameat2, atFdcwd, uintptr(unsafe.Pointer(from)), atFdcwd,
		uintptr(unsafe.Pointer(to)), renameExchange, 0)
	return errno
}

func tell(folder string, swaps int) {
	os.WriteFile(folder+"/.swaps", []byte(strconv.Itoa(swaps)), 0o666)
	os.Rename(folder+"/.swaps", folder+"/swaps")
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
