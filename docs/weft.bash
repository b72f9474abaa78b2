# SPDX-License-Identifier: GPL-2.0-or-later
# Completion of weft for bash. Commands, options and names are asked of the program itself, so that
# nothing has to be kept in step here.

_weft_names() { # list...: the names that `weft list` prints for them
    "${words[0]}" list "$@" 2>/dev/null | sed -n 's/^  \([^ ]*\).*/\1/p'
}

_weft_options() { # command
    "${words[0]}" "$1" --help 2>/dev/null | sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*\)\(=*\).*/\2\3/p'
}

# group.key=: keys of [topology] and the like are those of their kinds, from `weft params`
_weft_keys() { # group
    "${words[0]}" params "$1" 2>/dev/null | awk -v group="$1" '
        /^\[/ { key = NF == 4 ? $2 : ""; if (key) print group "." key "=" }
        /^[a-z_0-9]+ / && NR > 3 { print group "." $1 "=" }'
}

_weft_set() { # the beginning of group.key=value
    local group=${1%%.*}
    if [[ $1 != *.* ]]; then
        printf '%s.\n' scenario run topology workload transport queue route loss host sweep grid change
    elif [[ $1 != *=* ]]; then
        case $group in
        topology) for kind in $(_weft_names topologies); do _weft_keys "$kind"; done |
            sed 's/^[^.]*/topology/' | sort -u ;;
        workload) for kind in $(_weft_names workloads); do _weft_keys "$kind"; done |
            sed 's/^[^.]*/workload/' | sort -u ;;
        transport) for kind in $(_weft_names transports); do _weft_keys "$kind"; done |
            sed 's/^[^.]*/transport/' | sort -u ;;
        *) _weft_keys "$group" ;;
        esac
    else
        case ${1%%=*} in
        topology.kind) _weft_names topologies ;;
        workload.kind) _weft_names workloads ;;
        transport.name) _weft_names transports ;;
        queue.kind) _weft_names queues ;;
        route.kind) _weft_names routes ;;
        host.node) _weft_names nodes ;;
        run.backend) _weft_names backends ;;
        esac | sed "s/^/${1%%=*}=/"
    fi
}

# The word with what an option or `=` has in front of it is cut off: bash splits words there.
_weft() {
    local cur=${COMP_LINE:0:COMP_POINT} words=("${COMP_WORDS[@]}") command=${COMP_WORDS[1]}
    local prev=${COMP_WORDS[COMP_CWORD - 1]} typed
    cur=${cur##*[[:space:]]}
    typed=${cur%"${cur##*=}"}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("${words[0]}" --help |
            sed -n 's/^  weft \([a-z]*\).*/\1/p') --help --version" -- "$cur")
        return
    fi
    case $cur in
    --set=*) typed=${typed#--set=} prev=--set cur=${cur#--set=} ;;
    --topology=*) typed= prev=--topology cur=${cur#--topology=} ;;
    --workload=*) typed= prev=--workload cur=${cur#--workload=} ;;
    --figure=*) typed= prev=--figure cur=${cur#--figure=} ;;
    --format=*) typed= prev=--format cur=${cur#--format=} ;;
    esac
    # names of engines have a colon, at which bash splits as well
    if [[ ${COMP_LINE:0:COMP_POINT} =~ --engine[=[:space:]]+[^[:space:]]*$ ]]; then
        cur=${cur#--engine=} prev=--engine typed=
        [[ $cur == *:* ]] && typed=${cur%"${cur##*:}"}
    fi
    case $prev in
    -s | --set)
        mapfile -t COMPREPLY < <(compgen -W "$(_weft_set "$cur")" -- "$cur")
        COMPREPLY=("${COMPREPLY[@]#"$typed"}")
        compopt -o nospace 2>/dev/null
        return 0
        ;;
    --topology) mapfile -t COMPREPLY < <(compgen -W "$(_weft_names topologies scenarios)" -f -- "$cur") ;;
    --engine)
        mapfile -t COMPREPLY < <(compgen -W "ns3 $(_weft_names backends)" -- "$cur")
        COMPREPLY=("${COMPREPLY[@]#"$typed"}")
        ;;
    --workload) mapfile -t COMPREPLY < <(compgen -W "$(_weft_names workloads scenarios)" -f -- "$cur") ;;
    --figure) mapfile -t COMPREPLY < <(compgen -W "$("${words[0]}" plot --list | cut -d" " -f1)" -- "$cur") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "png svg png,svg" -- "$cur") ;;
    -o | --out) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *)
        if [[ $cur == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_weft_options "$command")" -- "$cur")
            [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
            return 0
        fi
        case $command in
        run | check | graph | compare | sweep | crosscheck | import)
            mapfile -t COMPREPLY < <(compgen -W "$(_weft_names scenarios)" -f -- "$cur")
            ;;
        diff | explain | trace | plot | report | gather) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        list)
            mapfile -t COMPREPLY < <(compgen -W "$("${words[0]}" list |
                sed -n 's/^\([a-z]*\) (.*/\1/p')" -- "$cur")
            ;;
        params)
            mapfile -t COMPREPLY < <(compgen -W "$(_weft_names topologies workloads transports) \
                scenario run queue route loss faults host hosts fault sweep" -- "$cur")
            ;;
        esac
        ;;
    esac
}

complete -F _weft weft
