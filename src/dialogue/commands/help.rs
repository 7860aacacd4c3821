use super::{COMMANDS, Command};
use crate::core::{Result, wrapped};
use crate::dialogue::{Dialogue, Next, start_up_file};
use crate::term::width;

pub static HELP: Command = Command { name: "help", arguments: "", help: "Lists the commands of the dialogue.", run };

fn run(dialogue: &mut Dialogue, _rest: &str) -> Result<Next> {
    let usage = |command: &Command| format!(":{} {}", command.name, command.arguments).trim_end().to_string();
    let wide = COMMANDS.iter().map(|command| usage(command).len()).max().unwrap_or(0);
    let room = width().saturating_sub(wide + 4).clamp(30, 90);
    for command in COMMANDS {
        let help = wrapped(command.help, room).replace('\n', &format!("\n{:wide$}  ", ""));
        dialogue.output.print(&format!("{:wide$}  {help}", usage(command)));
    }
    let start = start_up_file().map_or("init.rhai".into(), |file| file.display().to_string());
    let notes = format!(
        "\nThe value of a line is shown and kept as `ans`, unless the line ends with a semicolon. The last error is `err`, \
         with `err.kind`, `err.message` and `err.hint`. The last five results that were shown are `ans1`, `ans2` and so on as well, in the order \
         in which they came, as long as their tensors take no more than 256 MiB together; :results lists them. A line that fails or is stopped keeps what it did to variables; \
         the random numbers that it drew are put back, so doing it again draws the same.\n\
         Ctrl-C stops a call or clears the line. ?data lists a namespace, ? lists everything.\n\
         {start} is run at the start of the prompt, unless by `viva --no-init`."
    );
    dialogue.output.print(&wrapped(&notes, width().min(110)));
    Ok(Next::Line)
}
