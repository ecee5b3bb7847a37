# SPDX-License-Identifier: MIT
# Completion of rot for fish; rot itself says what may come next. Installed where fish looks for it.
complete -c rot -a '(rot complete (commandline -cp) 2>/dev/null)'
