#!/bin/sh
# SPDX-License-Identifier: MIT
# Documents: every relative link, anchor, and document that a source file names exists; documents in $plain keep to plain sentences; comments of C begin with
# their subject.
set -u
cd "${top_srcdir:?}" || exit 99
LC_ALL=C
export LC_ALL

# Documents that were rewritten in plain sentences.
plain="README.md HACKING.md NEWS.md doc/ACCURACY.md doc/ADD-A-KERNEL.md doc/CACHE.md doc/CEILINGS.md doc/CONTROLLERS.md doc/EXPERIMENTS.md doc/GLOSSARY.md doc/INTERNALS.md doc/MACHINE.md doc/PROBES.md doc/REGIONS.md doc/RESULTS.md doc/RUN.md doc/TRACING.md doc/VALIDATION.md"

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
folders="doc driver kernels core codegen shared-entities tests tools"
# shellcheck disable=SC2086 # words on purpose
find ./*.md $folders -name '*.md' >"$work/documents"
# shellcheck disable=SC2086
grep -rnoIE 'doc/[A-Za-z-]+\.md(#[a-z0-9-]+|, "[^"]+")?' rot Makefile.am $folders --exclude='*.md' >"$work/named"
[ -s "$work/documents" ] && [ -s "$work/named" ] || exit 99
status=0

# fail WHERE WHAT
fail()
{
	echo "$1: $2"
	status=1
}

# has_heading DOCUMENT NAME: a heading, or a place that is marked, has that name or anchor.
has_heading()
{
	awk -v name="$2" '
		/^```/ { is_code = !is_code }
		index($0, "<a id=\"" name "\">") { found = 1 }
		!is_code && /^#+ / {
			sub(/^#+ /, "")
			anchor = tolower($0)
			gsub(/[^a-z0-9 _-]/, "", anchor)
			gsub(/ /, "-", anchor)
			if ($0 == name || anchor == name)
				found = 1
		}
		END { exit !found }
	' "$1"
}

# ---- links ----

while read -r document; do
	awk '
		/^```/ { is_code = !is_code }
		!is_code {
			gsub(/`[^`]*`/, "")
			while (match($0, /\]\([^) ]*\)/)) {
				print FNR, substr($0, RSTART + 2, RLENGTH - 3)
				$0 = substr($0, RSTART + RLENGTH)
			}
		}
	' "$document" >"$work/links"
	while read -r line link; do
		case $link in
		*://*) continue ;;
		\#*) target=$document ;;
		*) target=$(dirname "$document")/${link%%#*} ;;
		esac
		if [ ! -e "$target" ]; then
			fail "$document:$line" "there is no $link"
		elif [ "${link#*#}" != "$link" ] && ! has_heading "$target" "${link#*#}"; then
			fail "$document:$line" "there is no heading $link"
		fi
	done <"$work/links"
done <"$work/documents"

while IFS=: read -r file line name; do
	target=${name%%[#,]*}
	heading=${name#"$target"}
	heading=${heading#[#,]}
	heading=${heading# \"}
	if [ ! -e "$target" ]; then
		fail "$file:$line" "there is no $target"
	elif [ -n "$heading" ] && ! has_heading "$target" "${heading%\"}"; then
		fail "$file:$line" "$target has no heading $heading"
	fi
done <"$work/named"

# ---- plain sentences ----

# shellcheck disable=SC2086
awk -v most_characters=160 -v most_words=40 '
	function fail(where, message)
	{
		print where ": " message
		status = 1
	}
	function check_sentence(sentence,    words, nr)
	{
		sub(/^[][ *_("]+/, "", sentence)
		if (sentence ~ /^(Of|What|Who|Whoever|Whose|Those|Whether)[ ,]/ && sentence !~ /\?[)"*_ ]*$/)
			fail(begin, "a sentence begins with " sentence)
		nr = split(sentence, words, /[ \t]+/)
		if (nr > most_words)
			fail(begin, "a sentence has " nr " words: " sentence)
	}
	function end_paragraph()
	{
		while (match(text, /[.?!][)"*_]*[ \t]+/)) {
			check_sentence(substr(text, 1, RSTART + RLENGTH - 1))
			text = substr(text, RSTART + RLENGTH)
		}
		check_sentence(text)
		text = ""
	}
	FNR == 1 {
		end_paragraph()
		is_code = 0
	}
	/^```/ {
		end_paragraph()
		is_code = !is_code
		next
	}
	is_code { next }
	/^\|/ || /^#/ || /^[ \t]*$/ {
		end_paragraph()
		next
	}
	{
		characters = $0
		gsub(/[\200-\277]/, "", characters)
		if (length(characters) > most_characters)
			fail(FILENAME ":" FNR, length(characters) " characters in a line")
		gsub(/`[^`]*`/, "code")
		gsub(/\]\([^) ]*\)/, "")
	}
	/^ *([-*]|[0-9]+\.) / {
		end_paragraph()
		sub(/^ *([-*]|[0-9]+\.) /, "")
	}
	{
		if (text == "")
			begin = FILENAME ":" FNR
		text = text $0 " "
	}
	END {
		end_paragraph()
		exit status
	}
' $plain || status=1

# ---- comments ----

first='(Of|What|Who|Those|Whether|As|That|Nobody) '
if grep -rnE --include='*.[ch]' "/\*+ $first" driver core kernels codegen shared-entities tests || grep -rnE --include='*.[ch]' -A 1 '/\*+$' driver core kernels codegen shared-entities tests | grep -E -- "-[0-9]+-[[:space:]]*\* $first"; then
	fail comments 'these do not begin with their subject'
fi

exit $status
